/* UNTRUSTED. Which devices a GPU lowering takes: the accept() of those that need no more than a kind of device. */
#include <string.h>

#include "compile/compiled_kernel.h"
#include "model/attributes.h"
#include "runtime/gpu.h"

const char *tki_gpu_accept_any(const tk_case *c, const tki_gpu_info *device)
{
    (void)c;
    return device ? NULL : "there is no device";
}

const char *tki_gpu_accept_hopper(const tk_case *c, const tki_gpu_info *device)
{
    if (!device)
        return tki_gpu_accept_any(c, device);
    return !strcmp(device->architecture, "sm_90") ? NULL : "needs a Hopper GPU (sm_90)";
}

const char *tki_gpu_accept_tensor(const tk_case *c, const tki_gpu_info *device)
{
    if (!device)
        return tki_gpu_accept_any(c, device);
    if (!tki_has_matrix_units(device->architecture))
        return "needs matrix units (from sm_80; gfx90a, gfx942, gfx1100, gfx1101)";
    if (!strncmp(device->architecture, "gfx90a", 6) &&
        tki_choice_of_role(c->contract, c->attributes, TK_ROLE_DOMAIN) != TKI_DOMAIN_NORMAL)
        return "the matrix units of gfx90a flush subnormal numbers: it takes the domain normal only";
    return NULL;
}

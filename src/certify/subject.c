/* RECORDS. Which kind of subject is asked for. */
#include "certify/subject.h"

#include <string.h>

#include "kernel_file/kernel_file.h"

const tki_subject_kind *tki_subject_kind_named(const char *name)
{
    static const tki_subject_kind *const kinds[] = {
        &tki_subject_lowering,    &tki_subject_mutant, &tki_subject_variant, &tki_subject_function,
        &tki_subject_kernel_file, &tki_subject_plain,  &tki_subject_given};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i]->name, name))
            return kinds[i];
    return NULL;
}

const tki_subject_kind *tki_subject_kind_of(const tk_certify_options *options)
{
    return options->kernel_file ? (options->kernel_file->plain ? &tki_subject_plain : &tki_subject_kernel_file)
           : options->kernel    ? &tki_subject_function
           : options->mutant    ? &tki_subject_mutant
           : options->variant   ? &tki_subject_variant
                                : &tki_subject_lowering;
}

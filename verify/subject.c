/* TRUSTED. Which kind of subject is asked for. */
#include "verify/subject.h"

const tki_subject_kind *tki_subject_kind_of(const tk_certify_options *options)
{
    return options->kernel_file ? &tki_subject_kernel_file
           : options->kernel    ? &tki_subject_function
           : options->mutant    ? &tki_subject_mutant
           : options->variant   ? &tki_subject_variant
                                : &tki_subject_lowering;
}

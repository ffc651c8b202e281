/* WRONG op=linear_fwd kind=residue_and_condition narrow=yes expect=REFUTED : with n % 32 == 16 and more than 4096 rows the half tile of columns takes the bias from 16 columns before */
#define BIAS_AT (m > 4096 && n % 32 == 16 && j >= n - 16 && j >= 16 ? j - 16 : j)
#include "linear_fwd.h"

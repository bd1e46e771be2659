/* The Newton tail: for the last digits, where reweighting becomes slow. */
#ifndef HUDDLE_SRC_SHRINK_NEWTON_H
#define HUDDLE_SRC_SHRINK_NEWTON_H

#include "shrink/block.h"

/* Accelerated reweighting until it stagnates, then primal-dual Newton steps (Chan, Golub and Mulet
 * 1999): the Hessian is taken with the dual vectors z_e / lambda_e and u_i in place of x_e / r_e
 * and h_i / rho_i, which keeps it definite and the steps long. Its systems are solved by conjugate
 * gradients preconditioned with the reweighted matrix, whose one factor serves all columns. The
 * bound always comes from the reweighted step. */
huddle_status hd_newton_step(hd_block *block);

#endif

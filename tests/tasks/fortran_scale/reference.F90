! SPDX-License-Identifier: Apache-2.0
! y(i) = 2 * x(i): a task for the backend that CONTRIBUTING.md adds.
subroutine twice(x, y, n) bind(c, name="twice")
  use iso_c_binding
  integer(c_int), value :: n
  real(c_float), intent(in) :: x(n)
  real(c_float), intent(out) :: y(n)
  integer :: i
  do i = 1, n
    y(i) = 2 * x(i)
  end do
end subroutine

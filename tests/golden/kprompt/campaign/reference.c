/* Scaled product. ``` */
void
scaled(void)
{
}

/* no_entry.c - a shared object that is no plugin at all. */
int no_entry_here(void);

__attribute__((visibility("default"))) int no_entry_here(void)
{
    return 42;
}

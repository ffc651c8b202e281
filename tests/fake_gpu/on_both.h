/* Entries of a cmocka program's list for tests on the fake GPU of one vendor or of each in turn. The program has set_up() and tear_down();
 * where set_up() begins, *state is the backend's name. */
#ifndef FAKE_GPU_ON_BOTH_H
#define FAKE_GPU_ON_BOTH_H

#define ON(backend, test) \
    ((struct CMUnitTest){#test " on " #backend, test, set_up, tear_down, (void *)(uintptr_t) #backend})
#define ON_BOTH(test) ON(cuda, test), ON(hip, test)

#endif

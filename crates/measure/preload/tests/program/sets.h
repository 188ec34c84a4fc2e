#include "common.h"

/* What epoll_wait says, with at most 8 events whose tags are below 20. */
void waited(const char *what, int set, int most, int timeout);
int added(int set, int operation, int fd, unsigned events, unsigned tag);
/* Has the echo answer, and gives the answer time to come. */
void ask(int fd, const char *text);

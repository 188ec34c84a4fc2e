/* poll and select, of sockets and of other descriptors beside them. */
#include "common.h"

#include <sys/resource.h>

static char got[2000];

static void polled(const char *what, struct pollfd *fds, int count, int timeout) {
    errno = UNTOUCHED;
    told(what, poll(fds, count, timeout));
    for (int index = 0; index < count; index++) printf(" %x", fds[index].revents);
    puts("");
}

static void *writes_later(void *fd) {
    pause_for(60);
    if (write(*(int *)fd, "late", 4) != 4) perror("write");
    return NULL;
}

static int elapsed_from(long before, int least) {
    long took = milliseconds() - before;
    return took >= least - 5 && took < least + 2000;
}

void polls(void) {
    int fd = connected(), other = connected(), pipe_ends[2];
    if (pipe(pipe_ends)) return;
    settle(fd), settle(other);
    struct pollfd fds[4] = {{fd, POLLIN, 0}, {other, POLLIN | POLLOUT, 0}, {pipe_ends[0], POLLIN, 0}, {-1, POLLIN, 0}};
    polled("nothing", fds, 1, 0);
    polled("writable", fds, 4, 0);
    fds[1].events = POLLIN;
    long before = milliseconds();
    polled("a while", fds, 4, 70);
    printf("%s\n", elapsed_from(before, 70) ? "70 ms" : "another time");
    TELL(send(fd, "one", 3, 0));
    polled("one", fds, 4, 5000);
    polled("still", fds, 4, -1);
    TELL(recv(fd, got, 20, 0));
    polled("no more", fds, 4, 0);
    TELL(send(other, "~50 both", 8, 0));
    before = milliseconds();
    polled("the other", fds, 4, 5000);
    printf("%s\n", elapsed_from(before, 50) ? "50 ms" : "another time");
    TELL(write(pipe_ends[1], "p", 1));
    polled("and a pipe", fds, 4, 5000);
    fds[0].events = POLLIN | POLLRDNORM | POLLOUT | POLLPRI;
    TELL(send(fd, "all", 3, 0));
    pause_for(30);
    polled("all", fds, 4, 5000);
    TELL(recv(fd, got, 20, 0));
    TELL(recv(other, got, 20, 0));
    TELL(read(pipe_ends[0], got, 20));
    fds[3].fd = 999;
    polled("none", fds, 4, 5000);
    fds[3].fd = -1, fds[0].events = 0;
    polled("asks nothing", fds, 1, 0);
    fds[0].events = POLLIN;
    /* What becomes ready in another thread. */
    pthread_t thread;
    pthread_create(&thread, NULL, writes_later, &pipe_ends[1]);
    polled("a pipe later", fds, 4, 5000);
    pthread_join(thread, NULL);
    TELL(read(pipe_ends[0], got, 20));
    pthread_create(&thread, NULL, writes_later, &fd);
    polled("an answer later", fds, 4, 5000);
    pthread_join(thread, NULL);
    struct timespec limit = {0, 30000000};
    TELL(ppoll(fds, 2, &limit, NULL));
    printf("%ld ns of the limit\n", limit.tv_nsec);
    TELL(recv(fd, got, 20, 0));
    TELL(ppoll(fds, 2, &limit, NULL));
    limit.tv_nsec = -1;
    TELL(ppoll(fds, 2, &limit, NULL));
    TELL(poll(NULL, 0, 10));
    /* Many, most of them the same. */
    static struct pollfd many[600];
    for (int index = 0; index < 600; index++) many[index] = (struct pollfd){fd, POLLIN, 0};
    TELL(poll(many, 600, 20));
    TELL(send(fd, "many", 4, 0));
    pause_for(50);
    TELL(poll(many, 600, 5000));
    TELL(recv(fd, got, 20, 0));
    /* Not bound before it is waited for. */
    int fresh = socket(echo.ss_family, SOCK_DGRAM, 0);
    fds[0] = (struct pollfd){fresh, POLLIN | POLLOUT, 0};
    polled("fresh", fds, 1, 0);
    fds[0].events = POLLIN;
    polled("fresh", fds, 1, 10);
    TELL(sendto(fresh, "fresh", 5, 0, (void *)&echo, echo_length));
    polled("bound by sending", fds, 1, 5000);
    TELL(sendto(fresh, "fresh", 5, 0, (void *)&echo, echo_length));
    TELL(recv(fresh, got, 20, 0));
    polled("again", fds, 1, 5000);
    TELL(recv(fresh, got, 20, 0));
    polled("empty", fds, 1, 10);
}

static void selected(const char *what, int fd, int pipe_end, int writable, long microseconds) {
    fd_set in, out, odd;
    FD_ZERO(&in); FD_ZERO(&out); FD_ZERO(&odd);
    FD_SET(fd, &in), FD_SET(pipe_end, &in), FD_SET(fd, &odd);
    if (writable) FD_SET(fd, &out);
    struct timeval limit = {microseconds / 1000000, microseconds % 1000000};
    errno = UNTOUCHED;
    told(what, select((fd > pipe_end ? fd : pipe_end) + 1, &in, &out, &odd, microseconds < 0 ? NULL : &limit));
    printf(" %d %d %d %d, %s\n", FD_ISSET(fd, &in), FD_ISSET(pipe_end, &in), FD_ISSET(fd, &out), FD_ISSET(fd, &odd),
           microseconds < 0 ? "no limit" : limit.tv_sec || limit.tv_usec ? "some is left" : "nothing is left");
}

void selects(void) {
    int fd = connected(), pipe_ends[2];
    if (pipe(pipe_ends)) return;
    settle(fd);
    selected("nothing", fd, pipe_ends[0], 0, 0);
    selected("writable", fd, pipe_ends[0], 1, 5000000);
    selected("a while", fd, pipe_ends[0], 0, 30000);
    TELL(send(fd, "~30 one", 7, 0));
    selected("one", fd, pipe_ends[0], 0, 5000000);
    TELL(write(pipe_ends[1], "p", 1));
    selected("and a pipe", fd, pipe_ends[0], 1, -1);
    TELL(recv(fd, got, 20, 0));
    selected("a pipe", fd, pipe_ends[0], 0, -1);
    TELL(read(pipe_ends[0], got, 20));
    fd_set in;
    FD_ZERO(&in); FD_SET(fd, &in);
    struct timespec limit = {0, 20000000};
    TELL(pselect(fd + 1, &in, NULL, NULL, &limit, NULL));
    FD_SET(fd, &in);
    TELL(send(fd, "one", 3, 0));
    TELL(pselect(fd + 1, &in, NULL, NULL, NULL, NULL));
    printf("%d\n", FD_ISSET(fd, &in));
    FD_SET(30, &in);
    TELL(select(31, &in, NULL, NULL, NULL));
    printf("%d\n", FD_ISSET(30, &in));
    TELL(select(-1, &in, NULL, NULL, NULL));
    struct timeval wrong = {-1, 0};
    TELL(select(fd + 1, &in, NULL, NULL, &wrong));
    wrong = (struct timeval){0, 1500000};
    TELL(select(fd + 1, NULL, NULL, NULL, &(struct timeval){0, 1000}));
    /* Its end is before the descriptor. */
    FD_ZERO(&in); FD_SET(fd, &in);
    TELL(select(fd, &in, NULL, NULL, &(struct timeval){0, 10000}));
    FD_ZERO(&in); FD_SET(fd, &in);
    TELL(select(fd + 1, &in, NULL, NULL, &wrong));
    TELL(recv(fd, got, 20, 0));
}

/* More descriptors than a set of libc's has room for: the program makes its own, as many bits as it takes. */
enum { LARGE = 4096, WORDS = LARGE / 64 };

static void mark(unsigned long *set, int fd) { set[fd / 64] |= 1UL << fd % 64; }
static int is_marked(const unsigned long *set, int fd) { return set[fd / 64] >> fd % 64 & 1; }

static void selected_large(const char *what, int count, const int *fds, int most, long milliseconds) {
    unsigned long in[WORDS] = {0}, out[WORDS] = {0};
    for (int index = 0; index < count; index++) mark(in, fds[index]);
    mark(out, fds[0]);
    struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
    errno = UNTOUCHED;
    told(what, select(most, (void *)in, (void *)out, NULL, &limit));
    for (int fd = 0; fd < LARGE; fd++)
        if (is_marked(in, fd) || is_marked(out, fd)) printf(" %d: %d %d\n", fd, is_marked(in, fd), is_marked(out, fd));
}

void large(void) {
    struct rlimit limit = {LARGE, LARGE};
    TELL(setrlimit(RLIMIT_NOFILE, &limit));
    static int fds[2000];
    int pipe_ends[2], count = 0;
    if (pipe(pipe_ends)) return;
    fds[count++] = connected();
    settle(fds[0]);
    int high = fcntl(fds[0], F_DUPFD, 2500), alone = connected();
    int far = fcntl(alone, F_DUPFD, 3000);
    close(alone);
    settle(far);
    fds[count++] = high, fds[count++] = far;
    selected_large("nothing", count, fds, LARGE, 0);
    selected_large("a while", count, fds, 3001, 30);
    TELL(send(far, "~30 far", 7, 0));
    selected_large("far", count, fds + 1, 3001, 2000);
    selected_large("before it", count - 1, fds + 1, 3000, 20);
    TELL(recv(far, got, 20, 0));
    TELL(send(high, "high", 4, 0));
    pause_for(30);
    selected_large("both names", count, fds, 3001, 2000);
    TELL(recv(fds[0], got, 20, 0));
    /* More than a thousand at once. */
    while (count < 1500) fds[count++] = fcntl(pipe_ends[0], F_DUPFD, 1200);
    TELL(send(far, "~30 far", 7, 0));
    unsigned long in[WORDS] = {0};
    for (int index = 0; index < count; index++) mark(in, fds[index]);
    struct timeval patience = {2, 0};
    TELL(select(LARGE, (void *)in, NULL, NULL, &patience));
    printf("%d %d\n", is_marked(in, far), is_marked(in, high));
    TELL(recv(far, got, 20, 0));
    mark(in, 4000);
    TELL(select(LARGE, (void *)in, NULL, NULL, &patience));
}

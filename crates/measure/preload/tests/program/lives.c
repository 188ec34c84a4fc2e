/* Descriptors that are copied, closed, inherited and passed on. */
#include "common.h"

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/un.h>

extern char **environ;
extern int close_range(unsigned, unsigned, int);
extern void closefrom(int);

static char got[2000];

static void talk(const char *what, int fd) {
    memset(got, 0, sizeof got);
    long sent = send(fd, what, strlen(what), 0);
    int error = sent < 0 ? errno : 0;
    long came = sent < 0 ? -1 : recv(fd, got, sizeof got, 0);
    printf("%s: %ld, %ld \"%s\" %s\n", what, sent, came, got, error ? strerrorname_np(error) : "");
    fflush(stdout);
}

void copies(void) {
    int fd = connected();
    settle(fd);
    int copy = dup(fd);
    talk("copy", copy);
    TELL(send(fd, "crossed", 7, 0));
    TELL(recv(copy, got, 20, 0));
    TELL(close(fd));
    talk("the copy alone", copy);
    TELL(dup2(copy, 50));
    TELL(dup2(copy, copy));
    TELL(close(copy));
    talk("fifty", 50);
    TELL(dup3(50, 51, O_CLOEXEC));
    TELL(fcntl(51, F_GETFD));
    TELL(fcntl(51, F_DUPFD, 60));
    TELL(fcntl(51, F_DUPFD_CLOEXEC, 61));
    talk("sixty", 60);
    /* Over a live one, and a live one over others. */
    int pipe_ends[2];
    if (pipe(pipe_ends)) return;
    TELL(dup2(pipe_ends[1], 60) == 60);
    TELL(write(60, "pipe", 4));
    TELL(read(pipe_ends[0], got, 20));
    TELL(dup2(61, pipe_ends[1]) == pipe_ends[1]);
    talk("over a pipe", pipe_ends[1]);
    TELL(dup2(999, 61));
    talk("still there", 61);
    /* The same number again and again, each time something else. */
    for (int turn = 0; turn < 3; turn++) {
        int again = connected();
        if (again != fd && !turn) printf("another number\n");
        talk("again", again);
        close(again);
        if (pipe(pipe_ends)) return;
        TELL(write(pipe_ends[1], "p", 1));
        TELL(read(pipe_ends[0], got, 5));
        close(pipe_ends[0]), close(pipe_ends[1]);
    }
    /* Copied before anything was sent. */
    int early = connected(), twin = dup(early);
    talk("early", early);
    talk("twin", twin);
    TELL(send(early, "to either", 9, 0));
    TELL(recv(twin, got, 20, 0));
    TELL(close(early));
    talk("twin alone", twin);
    /* Its port is free once the last of them is closed. */
    socklen_t length = sizeof(struct sockaddr_storage);
    struct sockaddr_storage own;
    getsockname(twin, (void *)&own, &length);
    TELL(close(twin));
    int next = socket(own.ss_family, SOCK_DGRAM, 0);
    TELL(bind(next, (void *)&own, length));
    TELL(connect(next, (void *)&echo, echo_length));
    talk("the same port", next);
}

void closing(void) {
    int kept[3];
    for (int index = 0; index < 3; index++) settle(kept[index] = connected());
    TELL(close_range(kept[1], kept[1], 0));
    TELL(send(kept[1], "gone", 4, 0));
    talk("the others", kept[2]);
    TELL(close_range(kept[0], kept[2], 4 /* CLOSE_RANGE_CLOEXEC */));
    talk("the others", kept[0]);
    TELL(close_range(5, 4, 0));
    int low = dup2(kept[0], 40);
    closefrom(20);
    TELL(send(low, "gone", 4, 0));
    talk("below", kept[0]);
    /* As daemons do it. */
    for (int fd = 3; fd < sysconf(_SC_OPEN_MAX) && fd < 70000; fd++) close(fd);
    TELL(send(kept[0], "gone", 4, 0));
    int fresh = connected();
    printf("number %d\n", fresh);
    talk("fresh", fresh);
    TELL(close_range(3, ~0U, 0));
    TELL(send(fresh, "gone", 4, 0));
    talk("fresh", connected());
}

static void joined(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %x\n", status);
    fflush(stdout);
}

void forks(void) {
    int fd = connected();
    fflush(stdout);
    pid_t child = fork();
    if (!child) settle(fd), talk("child first", fd), exit(3);
    joined(child);
    settle(fd);
    talk("parent", fd);
    /* It sends by its parent's socket, and has one of its own. */
    child = fork();
    if (!child) {
        TELL(send(fd, "from the child", 14, 0));
        int own = connected();
        settle(own), talk("child", own);
        close(fd);
        exit(4);
    }
    joined(child);
    TELL(recv(fd, got, 20, 0));
    talk("parent", fd);
    child = vfork();
    if (!child) {
        close(fd), dup2(0, fd), dup2(1, 45);
        _exit(write(45, "in vfork\n", 9) == 9 ? 5 : 6);
    }
    joined(child);
    talk("after vfork", fd);
    child = vfork();
    if (!child) {
        close_range(3, ~0U, 0);
        _exit(7);
    }
    joined(child);
    talk("after vfork", fd);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addclose(&actions, fd);
    char *words[] = {"true", NULL};
    TELL(posix_spawnp(&child, "true", &actions, NULL, words, environ));
    joined(child);
    talk("after a spawn", fd);
    TELL(system("exit 3"));
    /* The parent goes, its child goes on: a daemon. */
    int pipe_ends[2];
    if (pipe(pipe_ends)) return;
    fflush(stdout);
    if (!(child = fork())) {
        if (fork()) exit(0);
        pause_for(50);
        int own = connected();
        settle(own), talk("daemon", own);
        if (write(pipe_ends[1], "done", 4) != 4) exit(1);
        exit(0);
    }
    joined(child);
    TELL(read(pipe_ends[0], got, 4));
}

/* Four datagrams that wait for a socket. */
static void four_wait(int fd) {
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    settle(fd);
    sendto(fd, "@4", 2, 0, (void *)&echo, echo_length);
    TELL(recvfrom(fd, got, sizeof got, MSG_PEEK, (void *)&from, &length));
    TELL(connect(fd, (void *)&from, length));
    pause_for(50);
}

static void takes(const char *who, int fd, int count) {
    for (int index = 0; index < count; index++) {
        struct pollfd one = {fd, POLLIN, 0};
        int ready = poll(&one, 1, 1000);
        memset(got, 0, sizeof got);
        long came = recv(fd, got, sizeof got, MSG_DONTWAIT);
        printf("%s: %d, %ld \"%s\"\n", who, ready, came, got);
    }
    fflush(stdout);
}

/* Datagrams wait while a process forks. */
void handed(void) {
    /* The parent goes, its child goes on: a daemon. */
    int ends[2], fd;
    if (pipe(ends)) return;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        four_wait(fd = bound());
        if (fork()) _exit(5);
        pause_for(50), takes("daemon", fd, 4), settle(fd);
        exit(write(ends[1], "done", 4) != 4);
    }
    close(ends[1]), joined(child);
    TELL(read(ends[0], got, 4));
    TELL(read(ends[0], got, 4));
    /* The parent closes it. */
    four_wait(fd = bound());
    child = fork();
    if (!child) takes("child", fd, 4), exit(3);
    close(fd), joined(child);
    /* Whoever asks first gets them. */
    four_wait(fd = bound());
    if (!(child = fork())) takes("child", fd, 1), exit(4);
    joined(child), takes("parent", fd, 3);
    talk("parent", fd);
}

/* Datagrams wait while another program takes the place of this one; a call that fails takes nothing. */
void replaced(void) {
    int fd = bound();
    four_wait(fd);
    TELL(execl("/nonexistent", "x", NULL));
    takes("still here", fd, 1);
    TELL(execvp("no-such-program", (char *[]){"x", NULL}));
    char number[12];
    sprintf(number, "%d", fd);
    execl(own_file, own_file, "replacement", own_address, echo_address, number, NULL);
}

void replacement(int fd) {
    takes("afterwards", fd, 3);
    settle(fd);
    talk("afterwards", fd);
}

/* How many come to a socket within a time. */
static int heard(int fd, int ms) {
    struct timeval limit = {ms / 1000, ms % 1000 * 1000};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    int count = 0;
    while (recv(fd, got, sizeof got, 0) > 0) count++;
    return count;
}

/* Whoever asks gets what comes, while one of them is busy. */
void preforked(void) {
    int fd = connected(), ends[2], count, others = 0;
    if (pipe(ends)) return;
    fflush(stdout);
    for (int child = 0; child < 3; child++) {
        if (fork()) continue;
        /* The first one uses it first. */
        if (child) pause_for(100), count = heard(fd, 1500);
        else {
            count = heard(fd, 50), pause_for(300);
            send(fd, "@40", 3, 0), recv(fd, got, sizeof got, 0), pause_for(2000);
        }
        _exit(write(ends[1], &count, sizeof count) != sizeof count);
    }
    for (int child = 0; child < 3; child++) {
        if (read(ends[0], &count, sizeof count) != sizeof count) return;
        others += count;
    }
    while (wait(NULL) > 0) {}
    printf("the others got %s\n", others >= 30 ? "nearly all" : "few");
}

static void goes_on(int fd, int ms) {
    for (long until = milliseconds() + ms; milliseconds() < until; pause_for(20)) settle(fd);
}

/* Its parent goes, and its own child does nothing with the socket. */
void daemons(void) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(stdout);
    if (fork()) {
        while (wait(NULL) > 0) {}
        return;
    }
    int fd = connected();
    if (fork()) _exit(0);
    pause_for(200);
    pid_t helper = fork();
    if (!helper) pause(), _exit(0);
    goes_on(fd, 2500);
    kill(helper, SIGKILL), joined(helper);
    _exit(0);
}

/* One after the other. */
void hired(void) {
    int fd = connected();
    fflush(stdout);
    pid_t first = fork();
    if (!first) goes_on(fd, 5000), _exit(0);
    pause_for(2500);
    pid_t second = fork();
    if (!second) pause(), _exit(0);
    joined(first);
    kill(second, SIGKILL), joined(second);
}

void executes(void) {
    int fd = connected();
    settle(fd);
    fflush(stdout);
    char number[12];
    sprintf(number, "%d", fd);
    pid_t child = fork();
    if (!child) {
        execl("/nonexistent", "x", NULL);
        execl(own_file, own_file, "inherited", own_address, echo_address, number, NULL);
        exit(9);
    }
    joined(child);
    talk("parent", fd);
    TELL(execl("/nonexistent", "x", NULL));
    talk("still here", fd);
    fflush(stdout);
    execl(own_file, own_file, "inherited", own_address, echo_address, number, NULL);
}

void inherited(int fd) {
    /* What a parent that lives on has taken past the kernel does not come here: nothing is waited for before it is sent. */
    TELL(send(fd, "inherited", 9, 0) > 0);
    int own = connected();
    settle(own);
    talk("own", own);
}

void passing(void) {
    int fd = connected(), ends[2];
    settle(fd);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends)) return;
    _Alignas(8) char room[CMSG_SPACE(4)] = {0};
    struct iovec piece = {"x", 1};
    struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *one = CMSG_FIRSTHDR(&message);
    *one = (struct cmsghdr){CMSG_LEN(4), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(one), &fd, 4);
    TELL(sendmsg(ends[0], &message, 0));
    piece.iov_base = got;
    TELL(recvmsg(ends[1], &message, 0));
    int passed;
    memcpy(&passed, CMSG_DATA(CMSG_FIRSTHDR(&message)), 4);
    talk("passed", passed);
    TELL(close(fd));
    talk("alone", passed);
    TELL(close(passed));
}

void stdio(void) {
    int fd = connected();
    settle(fd);
    FILE *file = fdopen(fd, "r+");
    setvbuf(file, NULL, _IONBF, 0);
    TELL(fputs("by stdio\n", file) >= 0);
    pause_for(30);
    static char line[20];
    setvbuf(file, NULL, _IOFBF, 2000);
    TELL(fgets(line, sizeof line, file) != NULL);
    printf("%zu bytes\n", strlen(line));
    talk("beside it", fd);
    TELL(fclose(file));
    TELL(send(fd, "gone", 4, 0));
    int next = connected();
    talk("the same number", next);
    TELL(dprintf(next, "formatted %d", 7));
    TELL(recv(next, got, 20, 0));
    /* As inetd does it. */
    settle(next);
    TELL(dup2(next, 0));
    TELL(send(next, "by number\n", 10, 0));
    TELL(fgets(line, sizeof line, stdin) != NULL);
    show("a standard number", line, strlen(line));
    talk("its socket", next);
    /* And as it did before there was dup2. */
    int last = connected();
    settle(last);
    TELL(close(0));
    TELL(dup(last));
    TELL(send(last, "by order\n", 9, 0));
    TELL(fgets(line, sizeof line, stdin) != NULL);
    show("a standard number", line, strlen(line));
}

/* Where there is no /proc. */
void chrooted(void) {
    char folder[] = "/tmp/wireproof-root-XXXXXX";
    if (!mkdtemp(folder)) return;
    TELL(chroot(folder));
    TELL(chdir("/"));
    int fd = connected();
    settle(fd);
    talk("without /proc", fd);
    for (int other = 3; other < 2000; other++)
        if (other != fd) close(other);
    talk("all else closed", fd);
    talk("fresh", connected());
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int own = connected();
        settle(own), talk("child", own);
        exit(3);
    }
    joined(child);
    talk("parent", fd);
}

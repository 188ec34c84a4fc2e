#include "common.h"

const char *own_address, *echo_address, *own_file;
struct sockaddr_storage echo;
socklen_t echo_length;

struct sockaddr_storage address(const char *text, int port, socklen_t *length) {
    struct sockaddr_storage all = {0};
    struct sockaddr_in *v4 = (void *)&all;
    struct sockaddr_in6 *v6 = (void *)&all;
    if (strchr(text, ':')) {
        v6->sin6_family = AF_INET6, v6->sin6_port = htons(port), *length = sizeof *v6;
        inet_pton(AF_INET6, text, &v6->sin6_addr);
    } else {
        v4->sin_family = AF_INET, v4->sin_port = htons(port), *length = sizeof *v4;
        inet_pton(AF_INET, text, &v4->sin_addr);
    }
    return all;
}

int bound(void) {
    socklen_t length;
    struct sockaddr_storage own = address(own_address, 0, &length);
    int fd = socket(own.ss_family, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (void *)&own, length)) perror("a socket"), exit(1);
    struct timeval limit = {5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    return fd;
}

int connected(void) {
    int fd = bound();
    if (connect(fd, (void *)&echo, echo_length)) perror("connect"), exit(1);
    return fd;
}

void settle(int fd) {
    char answer[16];
    /* The neighbour may not be known yet, and its being asked for takes the first datagrams along. */
    for (int tries = 0; tries < 3; tries++) {
        sendto(fd, "settle", 6, 0, (void *)&echo, echo_length);
        if (recv(fd, answer, sizeof answer, 0) == 6) return;
    }
    perror("nobody answers"), exit(1);
}

void told(const char *what, long result) {
    int error = errno;
    if (result == -1) printf("%s: %s\n", what, strerrorname_np(error));
    else if (error != UNTOUCHED) printf("%s: %ld, and errno became %d\n", what, result, error);
    else printf("%s: %ld\n", what, result);
    fflush(stdout);
}

void show(const char *what, const void *bytes, long length) {
    if (length > 60) printf("%s: %ld bytes\n", what, length);
    else printf("%s: \"%.*s\"\n", what, (int)(length < 0 ? 0 : length), (const char *)bytes);
}

long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_for(int ms) {
    struct timespec left = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&left, &left) && errno == EINTR) {}
}

void on_signal(int number, int flags, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

/* Sends back what comes: "@N" N numbered answers, "~MS" after a while, "#N" N bytes; "end" ends it. */
static void answer(void) {
    socklen_t length;
    struct sockaddr_storage own = address(echo_address, ECHO_PORT, &length);
    int fd = socket(own.ss_family, SOCK_DGRAM, 0);
    if (fd < 0 || bind(fd, (void *)&own, length)) perror("the echo"), exit(1);
    puts("ready"), fflush(stdout);
    alarm(1200);
    static char bytes[65536];
    for (;;) {
        struct sockaddr_storage from;
        socklen_t from_length = sizeof from;
        ssize_t got = recvfrom(fd, bytes, sizeof bytes - 1, 0, (void *)&from, &from_length);
        if (got < 0) continue;
        bytes[got] = 0;
        if (!strcmp(bytes, "end")) exit(0);
        if (bytes[0] == '~') pause_for(atoi(bytes + 1));
        if (bytes[0] == '#') memset(bytes, 'x', got = atoi(bytes + 1));
        int count = bytes[0] == '@' ? atoi(bytes + 1) : 0;
        for (int index = 0; index < count; index++)
            sendto(fd, bytes, sprintf(bytes, "answer %d", index), 0, (void *)&from, from_length);
        if (!count) sendto(fd, bytes, got, 0, (void *)&from, from_length);
    }
}

int main(int count, char **words) {
    static const struct { const char *name; void (*tell)(void); } parts[] = {
        {"data", data}, {"flags", flags}, {"options", options}, {"unbound", unbound}, {"control", control}, {"errors", errors}, {"pointers", pointers}, {"pieces", pieces},
        {"polls", polls}, {"selects", selects}, {"epolls", epolls}, {"edges", edges}, {"copies", copies},
        {"closing", closing}, {"behind", behind}, {"forks", forks}, {"preforked", preforked}, {"daemons", daemons}, {"handed", handed}, {"once", once}, {"hired", hired}, {"executes", executes}, {"replaced", replaced}, {"threads", threads}, {"signals", signals},
        {"cancels", cancels}, {"cancelled", cancelled}, {"stdio", stdio}, {"passing", passing},
        {"jumps", jumps}, {"leaps", leaps}, {"unmapped", unmapped}, {"calm", calm}, {"sleeps", sleeps}, {"alike", alike}, {"woken", woken}, {"crowd", crowd}, {"masks", masks}, {"later", later}, {"members", members},
        {"nested", nested}, {"inheriting", inheriting}, {"shared", shared}, {"refused", refused}, {"contended", contended}, {"large", large},
        {"chrooted", chrooted}, {"beside", beside}, {"many", many}, {"mtus", mtus}, {"by_syscall", by_syscall}, {"stamps", stamps}, {"naps", naps}, {"rearmed", rearmed}, {"turns", turns}, {"drained", drained}, {"reopened", reopened}, {"chosen", chosen}, {"vanishes", vanishes},
    };
    if (count < 4) return 2;
    own_file = words[0], own_address = words[2], echo_address = words[3];
    echo = address(echo_address, ECHO_PORT, &echo_length);
    alarm(60);
    if (!strcmp(words[1], "echo")) answer();
    if (!strcmp(words[1], "inherited")) return inherited(atoi(words[4])), 0;
    if (!strcmp(words[1], "replacement")) return replacement(atoi(words[4])), 0;
    for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
        if (!strcmp(words[1], parts[part].name)) return parts[part].tell(), fflush(stdout), 0;
    return 2;
}

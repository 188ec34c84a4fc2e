/* Every function that sends, with every one that receives. */
#include "common.h"

#include <sys/syscall.h>

extern ssize_t __recv_chk(int, void *, size_t, size_t, int);
extern ssize_t __read_chk(int, void *, size_t, size_t);
extern ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);

static char got[70000];

static const char *whose(const struct sockaddr_storage *from, socklen_t length) {
    return length == echo_length && !memcmp(from, &echo, length) ? "the echo" : "somebody else";
}

static void receive_message(int fd, int flags) {
    struct sockaddr_storage from;
    struct iovec pieces[2] = {{got, 3}, {got + 3, 20}};
    struct msghdr message = {.msg_name = &from, .msg_namelen = sizeof from, .msg_iov = pieces, .msg_iovlen = 2};
    TELL(recvmsg(fd, &message, flags));
    printf("from %s, flags %x, control %zu\n", whose(&from, message.msg_namelen), message.msg_flags, message.msg_controllen);
    show("recvmsg", got, strnlen(got, 23));
}

void data(void) {
    int fd = connected();
    settle(fd);
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    memset(got, 0, sizeof got);
    TELL(send(fd, "send", 4, 0));
    TELL(recv(fd, got, sizeof got, 0));
    show("recv", got, 4);
    TELL(sendto(fd, "sendto", 6, 0, NULL, 0));
    TELL(recvfrom(fd, got, sizeof got, 0, (void *)&from, &length));
    printf("from %s\n", whose(&from, length));
    TELL(write(fd, "write", 5));
    TELL(read(fd, got, sizeof got));
    struct iovec out[3] = {{"in ", 3}, {"", 0}, {"pieces", 6}};
    TELL(writev(fd, out, 3));
    struct iovec in[2] = {{got, 4}, {got + 4, 100}};
    TELL(readv(fd, in, 2));
    show("readv", got, 9);
    struct msghdr message = {.msg_iov = out, .msg_iovlen = 3};
    TELL(sendmsg(fd, &message, 0));
    receive_message(fd, 0);
    message.msg_name = &echo, message.msg_namelen = echo_length;
    TELL(sendmsg(fd, &message, 0));
    TELL(__recv_chk(fd, got, 100, sizeof got, 0));
    TELL(send(fd, "chk", 3, 0));
    TELL(__read_chk(fd, got, 100, sizeof got));
    TELL(send(fd, "chk", 3, 0));
    length = sizeof from;
    TELL(__recvfrom_chk(fd, got, 100, sizeof got, 0, (void *)&from, &length));

    struct mmsghdr many[4] = {{.msg_hdr = {.msg_iov = out, .msg_iovlen = 1}}, {.msg_hdr = {.msg_iov = out, .msg_iovlen = 3}}};
    TELL(sendmmsg(fd, many, 2, 0));
    printf("%u and %u bytes\n", many[0].msg_len, many[1].msg_len);
    struct iovec rooms[4];
    struct sockaddr_storage names[4];
    for (int index = 0; index < 4; index++) {
        rooms[index] = (struct iovec){got + index * 100, 100};
        many[index].msg_hdr = (struct msghdr){&names[index], sizeof names[index], &rooms[index], 1, NULL, 0, 0};
    }
    TELL(recvmmsg(fd, many, 2, 0, NULL));
    printf("%u and %u bytes, from %s\n", many[0].msg_len, many[1].msg_len, whose(&names[1], many[1].msg_hdr.msg_namelen));
    TELL(send(fd, "@3", 2, 0));
    pause_for(50);
    TELL(recvmmsg(fd, many, 4, MSG_WAITFORONE, NULL));
    TELL(send(fd, "@2", 2, 0));
    struct timespec limit = {0, 50000000};
    pause_for(100);
    TELL(recvmmsg(fd, many, 2, 0, &limit));
    TELL(recvmmsg(fd, many, 2, MSG_DONTWAIT, NULL));

    static const int sizes[] = {0, 1, 17, 18, 19, 1000, 1452, 1472};
    for (size_t index = 0; index < sizeof sizes / sizeof *sizes; index++) {
        static char bytes[1500];
        for (int at = 0; at < sizes[index]; at++) bytes[at] = 'a' + at % 7;
        TELL(send(fd, bytes, sizes[index], 0));
        TELL(recv(fd, got, sizeof got, 0));
        printf("%d bytes are %s\n", sizes[index], memcmp(got, bytes, sizes[index]) ? "others" : "the same");
    }
    /* In fragments. */
    memset(got, 'f', 9000);
    TELL(send(fd, got, 9000, 0));
    TELL(recv(fd, got, sizeof got, 0));
    TELL(send(fd, got, 30000, 0));
    TELL(recv(fd, got, sizeof got, 0));
    TELL(close(fd));
}

void flags(void) {
    int fd = connected();
    settle(fd);
    TELL(recv(fd, got, 10, MSG_DONTWAIT));
    TELL(send(fd, "0123456789", 10, MSG_DONTWAIT | MSG_NOSIGNAL));
    TELL(recv(fd, got, 4, MSG_PEEK));
    TELL(recv(fd, got, 4, MSG_PEEK | MSG_TRUNC));
    int waiting = -1;
    TELL(ioctl(fd, FIONREAD, &waiting));
    printf("%d wait\n", waiting);
    receive_message(fd, MSG_PEEK);
    TELL(recv(fd, got, 4, MSG_TRUNC | MSG_WAITALL));
    TELL(recv(fd, got, 4, MSG_DONTWAIT));
    TELL(ioctl(fd, FIONREAD, &waiting));
    printf("%d wait\n", waiting);
    TELL(send(fd, "#40", 3, 0));
    receive_message(fd, 0);
    TELL(send(fd, "#40", 3, 0));
    receive_message(fd, MSG_TRUNC);
    TELL(recv(fd, got, 4, MSG_ERRQUEUE));
    TELL(recv(fd, got, 4, MSG_OOB));
    TELL(send(fd, "out", 3, MSG_OOB));
    TELL(send(fd, "more", 4, MSG_MORE));
    TELL(send(fd, " and", 4, 0));
    TELL(recv(fd, got, 20, 0));
    show("together", got, 8);
    TELL(send(fd, "confirm", 7, MSG_CONFIRM));
    TELL(recv(fd, got, 20, 0));
    TELL(send(fd, "dontroute", 9, MSG_DONTROUTE));
    TELL(recv(fd, got, 20, 0));
    /* Nothing to send, nothing to take. */
    TELL(send(fd, "", 0, 0));
    TELL(recv(fd, got, 20, 0));
    TELL(write(fd, "", 0));
    TELL(read(fd, got, 20));
    struct iovec none = {got, 0};
    TELL(writev(fd, &none, 1));
    pause_for(30);
    TELL(recv(fd, got, 20, MSG_DONTWAIT));
    TELL(send(fd, "left", 4, 0));
    TELL(read(fd, got, 0));
    TELL(readv(fd, &none, 1));
    TELL(recv(fd, got, 0, MSG_PEEK));
    TELL(recv(fd, got, 0, 0));
    TELL(recv(fd, got, 20, MSG_DONTWAIT));
}

/* The same by the system calls' numbers. */
void by_syscall(void) {
    int fd = connected(), pair[2];
    settle(fd);
    struct sockaddr_storage from;
    socklen_t length = sizeof from;
    struct iovec out = {"by number", 9}, in[2] = {{got, 100}, {got + 100, 100}};
    struct msghdr leaves = {.msg_iov = &out, .msg_iovlen = 1}, comes = {.msg_iov = in, .msg_iovlen = 1};
    struct mmsghdr many[2] = {{.msg_hdr = leaves}, {.msg_hdr = leaves}};
    struct timeval limit = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    TELL(syscall(SYS_sendto, fd, "sendto", 6, 0, &echo, echo_length));
    TELL(syscall(SYS_recvfrom, fd, got, sizeof got, 0, &from, &length));
    printf("from %s\n", whose(&from, length));
    TELL(syscall(SYS_sendmsg, fd, &leaves, 0));
    TELL(syscall(SYS_recvmsg, fd, &comes, 0));
    show("recvmsg", got, 9);
    TELL(syscall(SYS_sendmmsg, fd, many, 2, 0));
    many[0].msg_hdr = many[1].msg_hdr = comes, many[1].msg_hdr.msg_iov = in + 1;
    TELL(syscall(SYS_recvmmsg, fd, many, 2, 0, NULL));
    printf("%u and %u bytes\n", many[0].msg_len, many[1].msg_len);
    show("recvmmsg", got + 100, 9);
    TELL(syscall(SYS_recvfrom, fd, got, 10, MSG_DONTWAIT, NULL, NULL));
    TELL(syscall(SYS_sendto, 999, "x", 1, 0, NULL, 0));
    TELL(syscall(SYS_recvmsg, 999, &comes, 0));
    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return;
    TELL(syscall(SYS_sendto, pair[0], "pair", 4, 0, NULL, 0));
    TELL(syscall(SYS_recvfrom, pair[1], got, 10, 0, NULL, NULL));
    int fresh = socket(echo.ss_family, SOCK_DGRAM, 0);
    setsockopt(fresh, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (int turn = 0; turn < 3; turn++) {
        TELL(syscall(SYS_sendto, fresh, "fresh", 5, 0, &echo, echo_length));
        TELL(syscall(SYS_recvfrom, fresh, got, 10, 0, NULL, NULL));
    }
}

/* A client that asks once. */
void once(void) {
    char answer[20];
    int fd = socket(echo.ss_family, SOCK_DGRAM, 0);
    TELL(sendto(fd, "time?", 5, 0, (void *)&echo, echo_length));
    TELL(recv(fd, answer, sizeof answer, 0));
    show("answer", answer, 5);
}

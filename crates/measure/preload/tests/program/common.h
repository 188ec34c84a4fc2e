/* A program that knows nothing of being taken past the kernel: what it prints must not depend on whether it is. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ECHO_PORT 7007
#define UNTOUCHED 77

extern const char *own_address, *echo_address, *own_file;
extern struct sockaddr_storage echo;
extern socklen_t echo_length;

struct sockaddr_storage address(const char *text, int port, socklen_t *length);
/* A socket bound to the own address; one that is connected to the echo, too. */
int bound(void);
int connected(void);
/* Sends a line and takes the answer, so that whatever is decided at the first use is decided. */
void settle(int fd);
/* What a call returned, its error, and whether it left errno alone when there was none. */
void told(const char *what, long result);
#define TELL(call) do { errno = UNTOUCHED; told(#call, (long)(call)); } while (0)
void show(const char *what, const void *bytes, long length);
long milliseconds(void);
void pause_for(int ms);
void on_signal(int number, int flags, void (*handler)(int));

void data(void);
void flags(void);
void options(void);
void unbound(void);
void control(void);
void errors(void);
void pointers(void);
void pieces(void);
void polls(void);
void selects(void);
void epolls(void);
void edges(void);
void copies(void);
void closing(void);
void behind(void);
void vanishes(void);
void forks(void);
void preforked(void);
void daemons(void);
void handed(void);
void once(void);
void hired(void);
void executes(void);
void inherited(int fd);
void replaced(void);
void replacement(int fd);
void threads(void);
void signals(void);
void cancels(void);
void cancelled(void);
void stdio(void);
void passing(void);
void jumps(void);
void leaps(void);
void unmapped(void);
void calm(void);
void sleeps(void);
void alike(void);
void woken(void);
void crowd(void);
void masks(void);
void later(void);
void members(void);
void nested(void);
void inheriting(void);
void shared(void);
void refused(void);
void contended(void);
void large(void);
void chrooted(void);
void beside(void);
void many(void);
void mtus(void);
void by_syscall(void);
void stamps(void);
void naps(void);
void rearmed(void);
void turns(void);
void drained(void);
void reopened(void);
void chosen(void);

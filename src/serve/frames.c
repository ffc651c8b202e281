/* SHOWS. Reading and writing whole frames on descriptors that give and take as much as they like at a time. */
#include "serve/frames.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

uint32_t tki_frame_length(const unsigned char bytes[TKI_FRAME_LENGTH_BYTES])
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

void tki_frame_complete(struct iovec *parts, int count, unsigned char bytes[TKI_FRAME_LENGTH_BYTES])
{
    size_t length = 0;
    for (int i = 1; i < count; i++)
        length += parts[i].iov_len;
    for (int i = 0; i < TKI_FRAME_LENGTH_BYTES; i++)
        bytes[i] = (unsigned char)(length >> 8 * i);
    parts[0] = (struct iovec){bytes, TKI_FRAME_LENGTH_BYTES};
}

size_t tki_read_whole(int input, void *to, size_t bytes)
{
    size_t done = 0;
    errno = 0;
    while (done < bytes) {
        ssize_t got = read(input, (char *)to + done, bytes - done);
        if (got > 0)
            done += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    if (done == bytes)
        errno = 0;
    return done;
}

static void take_files(struct msghdr *message, int files[TKI_FRAME_FILES], int *count)
{
    bool too_many = (message->msg_flags & MSG_CTRUNC) != 0;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t here = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < here; i++) {
            int file;
            memcpy(&file, CMSG_DATA(part) + i * sizeof file, sizeof file);
            if (*count < TKI_FRAME_FILES && !too_many) {
                files[(*count)++] = file;
            } else {
                close(file);
                too_many = true;
            }
        }
    }
    if (!too_many)
        return;
    while (*count > 0)
        close(files[--*count]);
    *count = -1;
}

size_t tki_read_with_files(int input, void *to, size_t bytes, int files[TKI_FRAME_FILES], int *count)
{
    union {
        struct cmsghdr header; /* for its alignment */
        char bytes[CMSG_SPACE(sizeof(int[TKI_FRAME_FILES]))];
    } control;
    struct iovec part = {to, bytes};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    *count = 0;
    ssize_t got;
    do
        got = recvmsg(input, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == ENOTSOCK)
        return tki_read_whole(input, to, bytes);
    if (got >= 0)
        take_files(&message, files, count);
    if (got <= 0) {
        errno = got == 0 ? 0 : errno;
        return 0;
    }
    return (size_t)got + tki_read_whole(input, (char *)to + got, bytes - (size_t)got);
}

static ssize_t write_some(int output, struct iovec *parts, int count)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = (size_t)count};
    ssize_t done = sendmsg(output, &message, MSG_NOSIGNAL);
    return done < 0 && errno == ENOTSOCK ? writev(output, parts, count) : done;
}

bool tki_write_whole(int output, struct iovec *parts, int count)
{
    while (count > 0) {
        if (parts->iov_len == 0) {
            parts++;
            count--;
            continue;
        }
        ssize_t done = write_some(output, parts, count);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        for (size_t left = (size_t)done; left > 0;) {
            size_t step = left < parts->iov_len ? left : parts->iov_len;
            parts->iov_base = (char *)parts->iov_base + step;
            parts->iov_len -= step;
            left -= step;
            if (parts->iov_len == 0 && left > 0) {
                parts++;
                count--;
            }
        }
    }
    return true;
}

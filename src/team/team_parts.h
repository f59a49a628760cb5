/** @file team_parts.h  What the files of src/team share (internal). */
#ifndef FBP_SRC_TEAM_PARTS_H
#define FBP_SRC_TEAM_PARTS_H

#include "base/status.h"
#include "team/team.h"

#include <pthread.h>

/** What a message is about. */
enum team_kind {
    TEAM_BEAT = 1, /**< I am alive */
    TEAM_TOLD,     /**< how far I am: FBP_TEAM_TOLD numbers */
    TEAM_WORDS,    /**< what I bring to a meeting, to rank 0 */
    TEAM_VERDICT,  /**< what has become of it, from rank 0 */
    TEAM_STOP,     /**< somebody has failed, from rank 0 */
    TEAM_ASK,      /**< I am ready for this piece */
    TEAM_PIECE,    /**< bytes of a piece */
    TEAM_OFFER,    /**< a piece that I have, to rank 0 */
    TEAM_SPEAKS,   /**< rank 0 is lost, and I say so */
};

/** Pieces of one process for another come in two lanes, each in an order of its own. */
enum team_lane { TEAM_GIVEN, TEAM_OFFERED, TEAM_LANES };

/** Before every message.  Long letters are several messages. */
struct team_head {
    uint16_t kind, lane;
    int32_t status;
    uint64_t serial;    /**< of a piece */
    uint64_t at, total; /**< bytes of a letter before this message's, and all */
};

enum { TEAM_PART = FBP_TEAM_MESSAGE - sizeof(struct team_head) };

/** What everybody brings to a meeting, before his bytes, and what rank 0 answers. */
struct team_words {
    int32_t status;
    char where[32];
    char message[1000];
};

/** A letter that has come, or is coming. */
struct team_letter {
    struct team_letter *next;
    struct team_head head;
    size_t have; /**< of head.total */
    char data[];
};

/** What another process has, and has not been asked for. */
struct team_offered {
    struct team_offered *next;
    size_t from;
    uint64_t z, n;
};

/** Pieces for another process, and those of it for this one. */
struct team_pieces {
    uint64_t given, asks; /**< pieces for it, and how many of them it has asked for */
    uint64_t asked;       /**< pieces that it was asked for */
    char *to;             /**< where the last of them goes; NULL: nobody waits for it */
    size_t have, wants;   /**< bytes of that */
};

/** What this process knows of another one. */
struct team_peer {
    char host[64];
    double heard; /**< when it was heard of last */
    bool lost;
    struct team_letter *coming; /**< of WORDS or VERDICT */
    struct team_letter *first;  /**< those that are complete */
    uint64_t told[FBP_TEAM_TOLD];
    struct team_pieces pieces[TEAM_LANES];
};

struct fbp_team {
    struct fbp_team_functions call;
    struct team_peer *peers; /**< [size] */
    size_t local_rank, local_size;
    pthread_mutex_t order; /**< of offers */
    pthread_mutex_t lock;  /**< all below, and the peers */
    pthread_cond_t changed;
    pthread_t listener, beater;
    bool has_listener, has_beater;
    double stop_heard;   /**< when fbp_stop() was noticed; 0: it was not */
    bool closing, ended; /**< ended: who is silent now has left */
    atomic_bool stopped;
    atomic_bool *flag;
    struct team_offered *offers; /**< the oldest first */
    double woke;     /**< when it was noticed that this process had been asleep; 0: it was not */
    bool headless;   /**< rank 0 was lost before it told a verdict */
    size_t speaker;  /**< who says so; 0: nobody yet; size: another one, unknown */
    fbp_status over; /**< a meeting has failed, with this message */
    char why[1000];
    char message[FBP_TEAM_MESSAGE]; /**< the listener's last one; used by its thread alone */
};

/** Give a letter to another process (team_post.c); head: its kind, and what goes with that. */
fbp_status team_post(fbp_team *team, size_t to, struct team_head head, const void *data, size_t n);
/** Tell everybody to stop, of whom rank 0 alone knows all.  With the lock held. */
void team_stop(fbp_team *team);

/** The threads that listen and say that this process is alive (team_listen.c). */
fbp_status team_listen(fbp_team *team);
void team_listen_no_more(fbp_team *team);

/** So many seconds from now, for pthread_cond_timedwait(). */
struct timespec team_after(double seconds);

#endif /* FBP_SRC_TEAM_PARTS_H */

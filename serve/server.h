/* A kernel program's main loop: one request, or frames until the input ends. Returns an exit status; the message of a failure is in
 * the service's context. Prints nothing. */
#ifndef TKI_SERVE_SERVER_H
#define TKI_SERVE_SERVER_H

#include "serve/service.h"

/* One text request, which ends with the input. The reply, or the message of a failed request, is not written but handed back. */
TK_MUST_USE int tki_serve_once(tki_service *service, int input, int output);

/* Text frames until the input ends or a request fails; it is answered all the same. */
TK_MUST_USE int tki_serve_frames(tki_service *service, int input, int output);

#endif

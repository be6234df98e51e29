import { bodies } from './bodies.ts'
import type { CheckGroup } from './check.ts'
import { dispatching } from './dispatching.ts'
import { parallel } from './parallel.ts'
import { recording } from './recording.ts'
import { refusing } from './refusing.ts'
import { tokens } from './tokens.ts'

/** The view of callers over HTTP, the same for every mount. */
export const wire: readonly CheckGroup[] = [dispatching, recording, refusing, tokens, bodies, parallel]

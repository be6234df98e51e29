import { bodies } from './bodies.ts'
import type { CheckGroup } from './check.ts'
import { dispatching } from './dispatching.ts'
import { parallel } from './parallel.ts'
import { recording } from './recording.ts'
import { refusing } from './refusing.ts'
import { tokens } from './tokens.ts'

/** What callers see, over HTTP: the same however the shop is mounted. */
export const wire: readonly CheckGroup[] = [dispatching, recording, refusing, tokens, bodies, parallel]

import { loggedProblem } from '../../core/answers/logged-problem.ts'
import type { JsonObject } from '../../model/json.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { Clock } from '../../ports/clock.ts'
import type { PluginRecord } from '../../ports/record-store.ts'
import type { PluginCore } from '../plugin.ts'
import { digits, type StoredTask } from './approval-records.ts'
import type { AnsweredEvent, EndedApproval } from './check-options.ts'
import type { ApprovalDeps } from './deps.ts'
import { changeApproval } from './store-approval.ts'
import { viewApproval } from './stored-approval.ts'

export interface TaskDeps extends ApprovalDeps {
  readonly dispatch: NonNullable<PluginCore['dispatch']>
}

const PAGE = 100

/** Does all that is due: expires approvals, and reports ends. Never throws; what failed is done again by a later call. */
export async function doTasks(deps: TaskDeps): Promise<void> {
  try {
    let cursor: string | undefined
    do {
      const until = digits(deps.clock.now() + 1)
      const page = await deps.records.tasks.list('', { by: 'at', until, limit: PAGE, cursor })
      for (const task of page.items) await doTask(task, deps)
      cursor = page.nextCursor
    } while (cursor !== undefined)
  } catch (cause) {
    failed(cause, deps)
  }
}

async function doTask(record: PluginRecord<StoredTask>, deps: TaskDeps): Promise<void> {
  try {
    const isDone = record.body.task === 'expire' ? await expire(record.body, deps) : await report(record.body, deps)
    // Another process may have removed it: a conflict.
    if (isDone) await deps.commit({ changes: [deps.records.tasks.remove(record)] })
  } catch (cause) {
    failed(cause, deps)
  }
}

function failed(cause: unknown, { report, logger: _ }: TaskDeps): void {
  report(cause, { operation: 'store' }, { level: 'error', event: 'approval.failed' })
}

/** An approval whose time is over expires by any change that finds it open. */
async function expire({ tenant, approval: key }: StoredTask, deps: TaskDeps): Promise<true> {
  const find = async () => (await deps.records.approvals.find(tenant, [key]))[0]
  await changeApproval(find, (approval) => approval, deps)
  return true
}

const ANSWERED = '{ eventType, recipient, eventData?, channel? }, or undefined for no event'

/** Dispatches the event of an end, once. Returns `false` to try again. */
async function report({ tenant, approval: key }: StoredTask, deps: TaskDeps): Promise<boolean> {
  const { records, options, dispatch, logger } = deps
  const [found] = await records.approvals.find(tenant, [key])
  if (!found) return true
  const approval: EndedApproval = { ...viewApproval(found.body, true), tenant }
  const target: unknown = options.answered?.(approval)
  if (target === undefined || target === null) return true
  if (!isEvent(target)) {
    const { message: detail } = wrongReturn('answered() of approvals', target, ANSWERED)
    logger.log('error', 'approval.unreported', { runId: approval.runId, code: 'target_invalid', detail })
    return true
  }
  const { eventType, recipient, channel, eventData = { approval } as unknown as JsonObject } = target
  const request = {
    eventType,
    recipient,
    eventData,
    sessionId: approval.sessionId,
    ...(channel !== undefined && { channel }),
  }
  const answer = await dispatch(tenant, request, { key: `approval ${key} ${found.body.createdAt}` })
  if (answer.ok) return true
  // A fault is logged as `request.failed`.
  if (answer.status >= 500) return false
  logger.log('error', 'approval.unreported', { eventType, runId: approval.runId, ...loggedProblem(answer.body) })
  return true
}

function isEvent(value: unknown): value is AnsweredEvent {
  const { eventType, recipient } = Object(value)
  return typeof eventType === 'string' && typeof recipient === 'string'
}

const EVERY_MS = 10_000

/** Steps in the life of the tasks. */
export interface Tasks {
  start(): void
  /** Does what is due now, one call at a time. */
  runDue(): Promise<void>
  stop(): Promise<void>
}

/** Does what is due every ten seconds while started. */
export function approvalTasks(work: () => Promise<void>, clock: Clock): Tasks {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let isStarted = false
  let stopTimer = (): void => {}

  /** A call during the work causes another one: it may be about what became due meanwhile. */
  function runDue(): Promise<void> {
    if (running) {
      next ??= running.then(() => {
        next = undefined
        return runDue()
      })
      return next
    }
    running = work().finally(() => {
      running = undefined
    })
    return running
  }

  function goOn(): void {
    stopTimer()
    stopTimer = clock.after(EVERY_MS, () => {
      void runDue().then(() => {
        if (isStarted) goOn()
      })
    })
  }

  return {
    start() {
      if (isStarted) return
      isStarted = true
      goOn()
    },
    runDue,
    async stop() {
      isStarted = false
      stopTimer()
      await (next ?? running)
    },
  }
}

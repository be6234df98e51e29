import { Client, workflow } from '@novu/framework'
import { PostActionEnum } from '@novu/framework/internal'
import { z } from 'zod'
import { htmlOf, liquidMail, order, subjectOf } from './mail.ts'

const payloadSchema = z.object({
  orderId: z.string(),
  total: z.number(),
  items: z.array(z.object({ name: z.string() })),
})
const controlSchema = z.object({ subject: z.string(), body: z.string() })

/** Executes one workflow once and returns the mail. */
export type Execute = () => Promise<{ readonly outputs: Record<string, unknown> }>

/** The measured workflow: a payload schema, a condition, one mail. */
export interface NovuWorkflows {
  /** The mail in Liquid, in control values, as Novu takes it from its dashboard. */
  readonly liquid: Execute
  /** The mail from the step's own code. */
  readonly functions: Execute
}

/** `sanitised`: the output goes through `sanitize-html`, Novu's default. */
export async function novuWorkflows(sanitised: boolean): Promise<NovuWorkflows> {
  // In development mode it logs every execution.
  const client = new Client({ secretKey: 'unused', strictAuthentication: false, verbose: false })
  const disableOutputSanitization = !sanitised
  const liquid = workflow(
    'liquid',
    async ({ step, payload }) => {
      const skip = () => payload.total <= 0
      await step.email('mail', async (controls) => controls, { controlSchema, skip, disableOutputSanitization })
    },
    { payloadSchema },
  )
  const functions = workflow(
    'functions',
    async ({ step, payload }) => {
      const skip = () => payload.total <= 0
      const mail = async () => ({ subject: subjectOf(payload), body: htmlOf(payload) })
      await step.email('mail', mail, { skip, disableOutputSanitization })
    },
    { payloadSchema },
  )
  await client.addWorkflows([liquid, functions])
  const execute = (workflowId: string, controls: Record<string, unknown>): Execute => {
    const event = {
      action: PostActionEnum.EXECUTE as const,
      workflowId,
      stepId: 'mail',
      payload: { ...order },
      controls,
      subscriber: { email: 'ada@example.com' },
      state: [],
      context: {},
      env: { name: 'Development', type: 'dev' as const },
    }
    return () => client.executeWorkflow(event)
  }
  const { subject, html } = liquidMail('payload')
  return { liquid: execute('liquid', { subject, body: html }), functions: execute('functions', {}) }
}

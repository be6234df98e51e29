import { expect, it } from 'vitest'
import { type ConsentApi, consent } from '../../../src/plugins/consent/consent.ts'
import { databaseKinds } from '../../storage/databases.ts'
import { describeProcesses, minute, type Process } from '../different-sets.ts'

const ADA = 'ada@example.com'
const BOB = 'bob@example.com'
const keys = [{ kid: 'k1', key: new Uint8Array(32).fill(1) }]
const links = { baseUrl: 'https://app.example', keys }

const send = ({ sallyport }: Process, eventType: string, recipient: string) =>
  sallyport.dispatch({ eventType, recipient })

async function outcomes({ sallyport }: Process): Promise<readonly string[]> {
  const { items } = await sallyport.dispatches.list()
  return items
    .flatMap(({ recipient, deliveries: [one] }) => `${recipient} ${one?.reason ?? one?.waiting?.for ?? one?.status}`)
    .sort()
}

describeProcesses<ConsentApi>(
  (database) => {
    it('Nothing is sent by a worker that lacks the guard or the link of a dispatch, and then by one that has them', async () => {
      const { clock, start } = await database()
      const [api, whole] = [start([consent({ keys })], { links }), start([consent({ keys })], { links })]
      const [bare, unlinked] = [start([]), start([consent({ keys })])]
      await send(api, 'news', ADA)
      await send(api, 'news', BOB)
      await api.sallyport.suppressions?.add({ channel: 'email', address: BOB, reason: 'complained' })
      await bare.sallyport.worker.runDue()
      expect(await outcomes(api)).toEqual([`${ADA} unknown_here`, `${BOB} unknown_here`])
      clock.advance(60_000)
      await minute(clock, unlinked)
      expect([bare.email.sent, unlinked.email.sent]).toEqual([[], []])
      // One line for both.
      expect([bare.missing(), unlinked.missing()]).toEqual([['consent'], ['consent.unsubscribe']])
      await minute(clock, whole)
      expect(await outcomes(api)).toEqual([`${ADA} sent`, `${BOB} suppressed`])
      const [mail] = whole.email.sent
      expect([whole.email.sent.length, mail?.to]).toEqual([1, ADA])
      expect(mail?.content.text).toMatch(/^Off: https:\/\/app\.example\/api\/outbound\/unsubscribe\/[\w.-]+$/)
      const { items } = await api.sallyport.dispatches.list({ recipient: ADA })
      expect(items).toMatchObject([{ deliveries: [{ attempts: 1 }] }])
    })

    it('A dispatch of a process without plugins is sent by every worker', async () => {
      const { clock, start } = await database()
      const [bare, whole] = [start([]), start([consent({ keys })], { links })]
      await send(bare, 'news', ADA)
      await minute(clock, whole)
      await send(bare, 'news', BOB)
      await minute(clock, bare)
      expect([whole.email.sent.length, bare.email.sent.length]).toEqual([1, 1])
      expect(bare.missing()).toEqual([])
    })

    it('An event joins no digest of a process that has other guards and links', async () => {
      const { clock, start } = await database()
      const [bare, whole] = [start([]), start([consent({ keys })], { links })]
      await send(bare, 'weekly', ADA)
      await send(whole, 'weekly', ADA)
      await send(whole, 'weekly', ADA)
      clock.advance(1_000)
      await minute(clock, bare)
      expect(bare.email.sent.map(({ content }) => content.text)).toEqual(['Off: '])
      await minute(clock, whole)
      expect(whole.email.sent.map(({ content }) => String(content.text))).toEqual([
        expect.stringContaining('Off: https://app.example/'),
      ])
    })
  },
  await databaseKinds(),
)

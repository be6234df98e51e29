import type { CallAction } from '../../core/actions/call-action.ts'
import { CHANGE, FIND, type Only, PAGE, READ } from '../../core/actions/row-parts.ts'
import { pageOf } from '../../services/pagination.ts'
import type { ProfileOptions, RecipientProfiles } from './recipient-profile.ts'
import type { Suppressions } from './suppressions.ts'

export const PROFILE_ACTIONS: readonly CallAction<RecipientProfiles>[] = [
  {
    name: 'find_recipient',
    ...FIND,
    path: '/api/outbound/recipients/find',
    body: ['recipient'],
    call: (profiles, of: ProfileOptions) => profiles.profile(of),
  },
]

const SUPPRESSION_PATH = '/api/outbound/suppressions'

export const SUPPRESSION_ACTIONS: readonly CallAction<Suppressions>[] = [
  {
    name: 'list_suppressions',
    ...READ,
    path: SUPPRESSION_PATH,
    query: { channel: 'text', reason: 'text', ...PAGE },
    call: async (suppressions, options: Only<Suppressions['list']>) => pageOf(await suppressions.list(options)),
  },
  {
    name: 'find_suppressions',
    ...FIND,
    path: `${SUPPRESSION_PATH}/find`,
    body: ['address', 'addressKey', 'channel'],
    call: async (suppressions, of: Only<Suppressions['find']>) => ({ items: await suppressions.find(of) }),
  },
  {
    name: 'add_suppression',
    ...CHANGE,
    path: `${SUPPRESSION_PATH}/add`,
    body: ['channel', 'address', 'reason', 'category', 'expiresInMs'],
    changed: ({ added }: { readonly added: boolean }) => Number(added),
    call: async (suppressions, of: Only<Suppressions['add']>) => ({ added: await suppressions.add(of) }),
  },
  {
    name: 'remove_suppressions',
    ...CHANGE,
    path: `${SUPPRESSION_PATH}/remove`,
    body: ['address', 'addressKey', 'channel'],
    changed: ({ removed }: { readonly removed: number }) => removed,
    call: (suppressions, of: Only<Suppressions['remove']>) => suppressions.remove(of),
  },
]

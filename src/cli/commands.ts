import type { Command } from './command.ts'
import { list, retry, status } from './dispatch-commands.ts'
import { doctor } from './doctor-command.ts'
import { init } from './init/init-command.ts'
import { secret, token } from './secret-commands.ts'
import { erase, migrate, prune } from './store-commands.ts'

export const COMMANDS: Readonly<Record<string, Command>> = {
  init,
  secret,
  token,
  migrate,
  status,
  list,
  retry,
  prune,
  erase,
  doctor,
}

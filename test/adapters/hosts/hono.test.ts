import { honoHost } from '../../support/hosts/hono.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(honoHost)

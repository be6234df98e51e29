import { ittyRouterHost } from '../../support/hosts/itty-router.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(ittyRouterHost)

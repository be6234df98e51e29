import { nodeHost } from '../../support/hosts/node.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(nodeHost)

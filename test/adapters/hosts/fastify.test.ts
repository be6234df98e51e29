import { fastifyHost, middieHost } from '../../support/hosts/fastify.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(fastifyHost)
testHost(middieHost)

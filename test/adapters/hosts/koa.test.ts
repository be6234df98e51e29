import { koa2Host, koa3Host } from '../../support/hosts/koa.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(koa3Host)
testHost(koa2Host)

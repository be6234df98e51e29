import { fetchHost } from '../../support/hosts/fetch.ts'
import { testHost } from '../matrix/matrix.ts'

testHost(fetchHost)

/** GET /current-identity: API 4.1. */
import { IDENTITY } from '../entities/identity.ts'
import { ownShape } from './described.ts'
import { detail } from './envelope.ts'

export const CurrentIdentity = ownShape(IDENTITY)

export const CurrentIdentityReply = detail(CurrentIdentity)

/**
 * Values of OpenID Connect and OAuth: scopes, response modes, the issuer.
 * OIDC Core, OIDC Discovery, OAuth 2.0 Form Post Response Mode.
 */
import type { Brand } from '../base/brand.ts'

/** `https://<address>/oidc`, one for each bind point. A closed set, computed at start (D-2). */
export type Issuer = Brand<string, 'Issuer'>

/** The path of the provider: SPEC OIDC client. */
export const PROVIDER_PREFIX = '/oidc'

/** The page of invitations and resets, beside the provider (D-376). */
export const INVITE_PATH = '/invite'

export const SCOPES = ['openid', 'profile', 'offline_access'] as const
export type Scope = (typeof SCOPES)[number]

export const RESPONSE_MODES = ['query', 'form_post'] as const
export type ResponseMode = (typeof RESPONSE_MODES)[number]

/** The little that tests use of the library, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  type Account = { readonly accountId: string; claims(): Promise<object> }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly Grant: new (of: {
      readonly accountId: string
      readonly clientId: string
    }) => {
      addOIDCScope(scope: string): void
      addResourceScope(resource: string, scope: string): void
      save(): Promise<string>
    }
    readonly RefreshToken: new (
      of: object,
    ) => { save(): Promise<string> }
    readonly Client: { find(id: string): Promise<object | undefined> }
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionFinished(
      request: IncomingMessage,
      response: ServerResponse,
      result: object,
    ): Promise<void>
  }

  export type { Account }
}

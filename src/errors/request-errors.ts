/** What is wrong with a request before anything looks at what it asks for, and with the way it asks for a list. Part of the catalogue. */
import type { ErrorEntry } from './entry.ts'

export const REQUEST_ERRORS = {
  BAD_REQUEST: {
    status: 400,
    next: ['fix-client'],
    message: 'the request is not well-formed HTTP',
    when: 'The request is not well-formed HTTP: a broken header, a path that cannot be decoded, no `Host` field or two of them.',
    advice: 'Fix the client, or the proxy in front of the service.',
  },
  COULD_NOT_PARSE_BODY: {
    status: 400,
    next: ['fix-client'],
    message: 'the body could not be parsed',
    when: 'The body is not what its content type says: broken JSON, a JSON member named twice, JSON nested too deeply, a form with broken escapes, bytes that are not UTF-8.',
    advice: 'Send well-formed JSON, or a form encoded by a library.',
  },
  COULD_NOT_VALIDATE: {
    status: 400,
    next: ['correct-request'],
    message: 'the request is not valid',
    when: 'The request can be read, but a field is missing, repeated, too long or of the wrong type.',
    advice:
      '`cause`, or the end of `error_description`, names the field and what is wrong with it.',
  },
  INVALID_PAGINATION: {
    status: 400,
    next: ['correct-request'],
    message: 'the limit or the offset is not valid',
    when: '`limit` is not a whole number of at least 1, `offset` is not one of at least 0 or is too large, or one of them is repeated. `cause` says which and why.',
    advice: 'Correct it; `limit` is at most 500.',
  },
  INVALID_SORT_IDENTIFIER: {
    status: 400,
    next: ['correct-request'],
    message: 'the sort is not valid',
    when: '`sort` names a field that the list cannot be sorted by, more than five of them, or a direction other than `asc` and `desc`.',
    advice: 'Use fields in `filterableFields` of a response of the list.',
  },
  INVALID_FILTER: {
    status: 400,
    next: ['correct-request'],
    message: 'the filter is not valid',
    when: '`filter` cannot be parsed, names a field that the list does not have, or compares a field with a value of the wrong type. `cause` says what is wrong and at which column.',
    advice: 'Correct it; [lists.md](lists.md) has the language and the fields.',
  },
  NOT_FOUND: {
    status: 404,
    next: ['none'],
    message: 'there is nothing at this address',
    when: 'There is nothing at this address, or the listener does not serve the API that has it.',
    advice: 'Check the path. `GET /version` lists every API and where it is.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    next: ['fix-client'],
    message: 'this address does not support that method; the Allow header lists those that it does',
    when: 'The address exists, but not for this method.',
    advice: 'Use one of the methods in `Allow`.',
  },
  NOT_ACCEPTABLE: {
    status: 406,
    next: ['fix-client'],
    message: 'the response is text/html or application/json, and the Accept header allows neither',
    when: 'A login endpoint responds with HTML or JSON, and `Accept` allows neither. Nothing was done.',
    advice: 'Accept `application/json` or `text/html`.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    next: ['retry'],
    message: 'the request took too long to arrive',
    when: 'The headers or the body took longer to arrive than the listener waits.',
    advice: 'Send it again. On slow connections, raise `timeouts` of the listener.',
  },
  REQUEST_ENTITY_TOO_LARGE: {
    status: 413,
    next: ['fix-client'],
    message: 'the body is larger than this address allows',
    when: 'The body is larger than 64 KiB, or than 1 MiB if the caller is authenticated. The connection is closed.',
    advice: 'Send less.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    next: ['fix-client'],
    message: 'this address does not accept that content type',
    when: 'The content type is missing, or the address does not accept it.',
    advice:
      'Login endpoints accept `application/json` and `application/x-www-form-urlencoded`; `/oidc/token` and `/oidc/authorization` accept only the latter.',
  },
  MISDIRECTED_REQUEST: {
    status: 421,
    next: ['fix-configuration'],
    message: 'the Host is not one of the addresses of this listener',
    when: 'The `Host` header is not an address of this listener; only those are issuers.',
    advice:
      'Call the service by the `address` of one of its bind points, or configure the one you use. A proxy must forward the original `Host`.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    next: ['fix-client'],
    message: 'the header fields are too large',
    when: 'The header fields, or the address, are larger than 32 KiB.',
    advice: 'Send fewer or smaller ones; old cookies are a common reason.',
  },
} as const satisfies Record<string, ErrorEntry>

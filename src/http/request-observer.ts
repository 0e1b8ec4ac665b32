/** Observers of requests: metrics and traces. They cannot change a response. */

export interface AnsweredRequest {
  readonly method: string
  /** The pattern; `none` if nothing is bound there. */
  readonly route: string
  readonly status: number
  readonly milliseconds: number
}

export interface ArrivedRequest {
  readonly method: string
  readonly route: string
  readonly requestId: string
  readonly httpVersion: string
  /** As the caller sent it. */
  readonly traceparent: string | undefined
}

export interface RequestTrace {
  /** Everything started in `work` belongs to this request. */
  run(work: () => void): void
  /** `code` is the error code, if the request failed. */
  end(status: number, code: string | undefined): void
}

/** Counts outcomes that have no audit event. Resolves and rejects like the promise. */
export interface OutcomeCounters {
  countRefresh<T>(refreshed: Promise<T>): Promise<T>
  /** Device authorization requests (RFC 8628). */
  countDevice<T>(requested: Promise<T>): Promise<T>
  /** Certificates that we issued for an enrollment. */
  countEnrolled<T>(enrolled: Promise<T>): Promise<T>
}

export interface RequestObserver {
  answered(request: AnsweredRequest): void
  /** Missing if tracing is off. Returns undefined if this request is not traced. */
  readonly trace?: (request: ArrivedRequest) => RequestTrace | undefined
}

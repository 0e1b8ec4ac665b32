/** Who is told of requests: those that count and those that trace. Neither can change an answer. */

export interface AnsweredRequest {
  readonly method: string
  /** The pattern; `none` where nothing is bound. */
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
  /** What begins in `work` belongs to this request. */
  run(work: () => void): void
  /** `code` is that of the refusal, where there was one. */
  end(status: number, code: string | undefined): void
}

/** Counts outcomes that no audit event tells. Resolves and rejects as the promise does. */
export interface OutcomeCounters {
  countRefresh<T>(refreshed: Promise<T>): Promise<T>
  /** Certificates of ours that were issued for an enrollment. */
  countEnrolled<T>(enrolled: Promise<T>): Promise<T>
}

export interface RequestObserver {
  answered(request: AnsweredRequest): void
  /** Absent where nothing is traced. Undefined: this request is not. */
  readonly trace?: (request: ArrivedRequest) => RequestTrace | undefined
}

/** Goes through the words of a filter, one after the other. Keywords are the same in capitals and small letters. */
import { FilterFault, type Token } from './filter-tokens.ts'

export class TokenCursor {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens
  }

  peek(): Token {
    return this.#tokens[this.#at] as Token
  }

  /** The end is never passed: whoever reads it gets it again. */
  next(): Token {
    const token = this.peek()
    if (token.kind !== 'end') this.#at += 1
    return token
  }

  isWord(...words: readonly string[]): boolean {
    const token = this.peek()
    return token.kind === 'word' && words.includes(token.text.toLowerCase())
  }

  isSign(sign: string): boolean {
    const token = this.peek()
    return token.kind === 'sign' && token.text === sign
  }

  /** Reads one of these words if it comes next; answers which, in small letters. */
  takeWord(...words: readonly string[]): string | undefined {
    if (!this.isWord(...words)) return undefined
    const token = this.next()
    return token.kind === 'word' ? token.text.toLowerCase() : undefined
  }

  takeSign(sign: string): boolean {
    const isNext = this.isSign(sign)
    if (isNext) this.next()
    return isNext
  }

  expectSign(sign: string): void {
    if (!this.takeSign(sign)) throw new FilterFault(`"${sign}" is missing`, this.peek().column)
  }

  expectWord(word: string): void {
    if (this.takeWord(word) === undefined) {
      throw new FilterFault(`"${word}" is missing`, this.peek().column)
    }
  }
}

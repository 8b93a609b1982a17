/** What ends the program: one line for the user, '' where there is nothing to say, and the exit code. */
export class Fatal extends Error {
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }
}

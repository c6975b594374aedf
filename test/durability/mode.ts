/** Something that is killed many times: `times` and `seed` as asked for, and a directory to work in. */
export type Mode = (options: { times: number; seed: number; work: string }) => {
  /** Rejects with what was lost. */
  run(): Promise<void>;
  /** What was done so far, in a line. */
  describe(): string;
};

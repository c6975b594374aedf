declare namespace NodeJS {
  interface Process {
    /** Runs another program in place of this one, from Node.js 22.15 on. It does not return. */
    execve?(file: string, args: readonly string[], environment: NodeJS.ProcessEnv): never;
  }
}

/** How the programs of exec plugins are run; the host's `Programs` do it. No shell sees them. */
export interface PluginPrograms {
  /** Rejects with AbortedError when the signal fires; the program is gone then. */
  run(run: PluginRun, signal: AbortSignal): Promise<PluginOutcome>;
}

/** One run of a plugin. */
export interface PluginRun {
  /** A path, or a name that is looked for as a shell would. */
  readonly path: string;
  readonly args: readonly string[];
  /** Set for the program beside the variables of this process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** How a plugin ended. `missing`: there is no such program; `problem`: what became of it, for a message. */
export type PluginOutcome =
  | { readonly kind: "printed"; readonly stdout: Buffer }
  | { readonly kind: "missing" }
  | { readonly kind: "failed"; readonly problem: string; readonly stderr: string };

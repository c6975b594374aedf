/** What the exit codes of a command mean. */
interface ExitCodes {
  readonly commands: readonly string[];
  /** What 0 means. */
  readonly done: string;
  /** What 1 means beyond that which it means for each command, see `FAILED`. */
  readonly failed: string;
}

/** What 1 means for each command. */
export const FAILED = "wrong words on the command line, a missing right, or a failure that the standard error tells";

/** How a second signal ends what the first one has asked to stop. */
export const SECOND_SIGNAL =
  "A second signal ends at once what the first has asked to stop, with 130 for SIGINT and 143 for SIGTERM; `up` with 130 for either.";

/** What the exit codes of all commands mean; the manual and `docs/commands.md` say it. */
export const EXIT_CODES: readonly ExitCodes[] = [
  {
    commands: ["up"],
    done: "stopped by a signal; with --detach: the pods of all manifests run",
    failed: "a nodelet runs there already; with --detach: a manifest is wrong, or a pod does not run in time",
  },
  {
    commands: ["down"],
    done: "stopped, or there was nothing to stop",
    failed: "with --pods: not every pod could be removed in order; what was left is killed",
  },
  {
    commands: ["control-plane", "proxy", "dns", "kubelet"],
    done: "stopped by a signal; kubelet: or by `--exit-on-lock-contention`",
    failed: "it cannot start, or not go on",
  },
  {
    commands: ["status"],
    done: "the node agent answers, whatever the state of its pods",
    failed: "nodelet does not run there, or its node agent does not answer",
  },
  {
    commands: ["explain"],
    done: "explained, whatever is wrong with it",
    failed: "nobody knows of it, or nobody could be asked",
  },
  {
    commands: ["dashboard"],
    done: "stopped by a signal",
    failed: "no kubeconfig, or its port is taken",
  },
  {
    commands: ["doctor"],
    done: "pods can run on this machine; there may be warnings",
    failed: "a check has failed",
  },
  {
    commands: ["images"],
    done: "all was done",
    failed: "one of the files or images failed; the others are done",
  },
  {
    commands: ["install", "uninstall"],
    done: "the service runs; it is gone, or was never there",
    failed: "systemd refused, or the service did not start",
  },
  { commands: ["completion", "version", "help"], done: "printed", failed: "nothing else" },
];

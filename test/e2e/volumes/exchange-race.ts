import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/** renameat2 with RENAME_EXCHANGE by its number on x86-64 and on arm64: no program of the machine makes that call. */
const RENAMEAT2 = process.arch === "arm64" ? 276 : 316;
const SCRIPT = `
  my ($a, $b) = @ARGV;
  syscall(${RENAMEAT2}, -100, $a, -100, $b, 2) == 0 or die "renameat2: $!";
  $| = 1;
  print "ready\\n";
  while (1) {
    syscall(${RENAMEAT2}, -100, $a, -100, $b, 2);
    # The directory is the one that is looked up a little more often than the link.
    select(undef, undef, undef, 0.0001 * int(rand(3)));
  }
`;

/** A process that exchanges two names as fast as the kernel lets it. */
interface ExchangeRace {
  stop(): Promise<void>;
}

/** Resolves when the first exchange is done. */
export async function startExchangeRace(a: string, b: string): Promise<ExchangeRace> {
  const child: ChildProcess = spawn("perl", ["-e", SCRIPT, a, b], { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "exit");
  let errors = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  const isReady = await Promise.race([once(child.stdout ?? child, "data").then(() => true), exited.then(() => false)]);
  if (!isReady) throw new Error(`the race did not start: ${errors}`);
  return {
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

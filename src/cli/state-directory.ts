import { isAbsolute, join } from "node:path";
import { DEFAULT_STATE_DIRECTORY } from "../cluster/supervisor/state-layout.ts";

/**
 * Where a program that needs no root keeps its state by default: with root's rights in the machine's place, otherwise in
 * the user's, as the XDG base directory specification has it (`$XDG_STATE_HOME`, or `~/.local/state`).
 */
export function computeStateDirectory(
  userId: number,
  { HOME: home, XDG_STATE_HOME: stateHome }: Readonly<Record<string, string | undefined>>,
): string {
  if (userId === 0) return DEFAULT_STATE_DIRECTORY;
  // The specification says that a relative path is to be ignored.
  if (stateHome !== undefined && isAbsolute(stateHome)) return join(stateHome, "nodelet");
  return home !== undefined && isAbsolute(home) ? join(home, ".local", "state", "nodelet") : DEFAULT_STATE_DIRECTORY;
}

import type { Duplex } from "node:stream";

/** Answers and hangs up. */
export async function endWith(socket: Duplex, answer: string): Promise<void> {
  socket.end(answer);
  socket.resume();
  if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
}

import { createSocket } from "node:dgram";
import { connect, isIPv6 } from "node:net";
import { AbortedError } from "../../../base/abort.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";
import type { CallDns, DnsCall } from "../../dns-port.ts";
import { createMessageSplitter, frameMessage } from "./dns-frames.ts";

/** The real `CallDns`. */
export const callDns: CallDns = async (call) => {
  if (call.signal.aborted) throw new AbortedError();
  return await new Promise<Buffer>((resolve, reject) => {
    let close: () => void = () => undefined;
    const end = (settle: () => void) => {
      clearTimeout(timer);
      call.signal.removeEventListener("abort", onAbort);
      close();
      settle();
    };
    const fail = (code: "timed-out" | "unreachable", why: string) => {
      const where = `the name server ${call.address}:${call.port} over ${call.transport}`;
      end(() => reject(new CodedError(code, `${where}: ${why}`)));
    };
    const onAbort = () => end(() => reject(new AbortedError()));
    const timer = setTimeout(() => fail("timed-out", `no answer within ${call.timeoutMs} ms`), call.timeoutMs);
    call.signal.addEventListener("abort", onAbort, { once: true });
    const take = (message: Buffer) => {
      if (call.isAnswer(message)) end(() => resolve(message));
    };
    const start = call.transport === "udp" ? askByDatagram : askByConnection;
    close = start(call, take, (error) => fail("unreachable", messageOf(error)));
  });
};

/** Starts the exchange; the returned function ends it and may be called again. */
type Exchange = (call: DnsCall, take: (message: Buffer) => void, fail: (error: unknown) => void) => () => void;

/** A connected socket gets nothing from others than the server, and hears that nobody listens there. */
const askByDatagram: Exchange = ({ address, port, message }, take, fail) => {
  const socket = createSocket(isIPv6(address) ? "udp6" : "udp4");
  let isOpen = true;
  socket.on("error", fail);
  socket.on("message", take);
  socket.connect(port, address, (error?: Error) => {
    if (error !== undefined && error !== null) return fail(error);
    if (isOpen) socket.send(message, (failure) => (failure ? fail(failure) : undefined));
  });
  return () => {
    if (isOpen) socket.close();
    isOpen = false;
  };
};

const askByConnection: Exchange = ({ address, port, message }, take, fail) => {
  const socket = connect({ host: address, port });
  const splitter = createMessageSplitter();
  socket.on("error", fail);
  socket.on("connect", () => socket.write(frameMessage(message)));
  socket.on("data", (piece: Buffer) => {
    splitter.push(piece);
    for (let next = splitter.next(); next !== undefined; next = splitter.next()) take(next);
  });
  socket.on("end", () => fail(new Error("the server closed the connection without an answer")));
  return () => socket.destroy();
};

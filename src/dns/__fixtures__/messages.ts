import { type Answer, decode, encode, type RecordType } from "dns-packet";

interface QuestionOptions {
  readonly id?: number;
  readonly type?: RecordType;
  readonly edns?: boolean;
  readonly flags?: number;
}

/** The message of a client that asks for a name. */
export function questionFor(
  name: string,
  { id = 1, type = "A", edns = false, flags = 0x0100 }: QuestionOptions = {},
): Buffer {
  const option: Answer = {
    ...{ type: "OPT", name: ".", udpPayloadSize: 1_232, extendedRcode: 0, ednsVersion: 0, flags: 0, flag_do: false },
    options: [],
  };
  return encode({ type: "query", id, flags, questions: [{ type, name }], ...(edns && { additionals: [option] }) });
}

interface AnswerOptions {
  readonly addresses?: readonly string[];
  readonly ttl?: number;
  readonly code?: number;
  readonly id?: number;
}

/** The answer of an honest server to a message. */
export function answerWith(message: Buffer, { addresses = [], ttl = 60, code = 0, id }: AnswerOptions): Buffer {
  const { id: asked, questions = [] } = decode(message);
  const [question] = questions;
  if (question === undefined) throw new Error("the message asks nothing");
  const { name } = question;
  return encode({
    type: "response",
    id: id ?? asked ?? 0,
    flags: 0x0180 | code,
    questions: [question],
    answers: addresses.map((data) => ({ type: "A", name, ttl, data })),
  });
}

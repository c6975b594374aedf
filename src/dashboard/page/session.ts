/** The token that this page shows to its server. Storage belongs to the origin, port included, and no other page reads it. */
const KEY = "nodelet-token";

/** Takes the token out of the address, where the history and other people would see it. */
export function keepToken(): void {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  localStorage.setItem(KEY, token);
  history.replaceState(null, "", "/#/");
}

/** A failed question: the status of the answer, 0 where there was none. */
export class QuestionError extends Error {
  override readonly name = "QuestionError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Asks the server of this page. Rejects with a QuestionError in the words of the answer, and when the signal fires. */
export async function ask(path: string, options: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${localStorage.getItem(KEY) ?? ""}` };
  const answer = await fetch(path, { ...options, headers, cache: "no-store" }).catch((error: unknown) => {
    if (options.signal?.aborted === true) throw error;
    throw new QuestionError(0, "The dashboard does not answer: it was stopped, or this machine is not reached.");
  });
  if (answer.ok) return answer;
  throw new QuestionError(answer.status, describeRefusal(await answer.text()));
}

/** The message of a Status of Kubernetes, or the text as it is. */
function describeRefusal(text: string): string {
  const message = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return message === undefined ? text.trim() : message.replaceAll('\\"', '"');
}

/** Asks for a value; the server is of the same build, so that its types are this page's. */
export async function askFor<T>(path: string, options: RequestInit = {}): Promise<T> {
  const answer = await ask(path, options);
  const value: T = await answer.json();
  return value;
}

/** The token that this page shows to its server. Storage belongs to the origin, port included, and no other page reads it. */
const KEY = "nodelet-token";

/** Takes the token out of the address, where the history and other people would see it. */
export function keepToken(): void {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return;
  localStorage.setItem(KEY, token);
  history.replaceState(null, "", "/#/");
  changes.dispatchEvent(new Event("token"));
}

const changes = new EventTarget();

/** Keeps the token of a link that is opened in a page which is open already: the browser does not load the page anew then. */
export function watchLinks(): void {
  addEventListener("hashchange", keepToken);
}

/** The token that is shown; "" before there is one. */
export function currentToken(): string {
  return localStorage.getItem(KEY) ?? "";
}

/** Resolves when this page, or another one of the same origin, has another token than this. */
export async function untilNewToken(old: string): Promise<void> {
  if (currentToken() !== old) return;
  const controller = new AbortController();
  const { signal } = controller;
  await new Promise<void>((resolve) => {
    changes.addEventListener("token", () => resolve(), { signal });
    addEventListener("storage", ({ key }) => key === KEY && resolve(), { signal });
  });
  controller.abort();
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
  const headers = { authorization: `Bearer ${currentToken()}` };
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

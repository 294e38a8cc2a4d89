/** The command line and the Python call of what is on the screen, to copy; and the file that the command would write. */

/** Let the buttons beside the lines copy them; `say` tells that they did. */
export function listenToCopy(say) {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const line = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(line.title);
        say("Copied.");
      } catch {
        getSelection().selectAllChildren(line);
        say("The browser does not let pages copy: the line is selected, press Ctrl+C.");
      }
    });
  }
}

/** Show what the server says: of several lines the last, of all lines a title. */
export function showWords(words) {
  for (const name of ["command", "python"]) {
    const line = document.getElementById(name);
    line.title = words[name];
    line.textContent = words[name].split("\n").at(-1);
  }
}

async function post(body) {
  const headers = { "content-type": "application/json" };
  return (await fetch("save", { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/** Let the form save; `request` is what to save, `say` tells what was written. */
export function listenToSave(picture, request, say) {
  const form = document.getElementById("save");
  const out = document.getElementById("out");
  const button = form.querySelector("button");
  out.value = picture.out;
  out.title = `in ${picture.folder}`;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    say("Saving …");
    try {
      const body = { request: request(), out: out.value };
      let answer = await post(body);
      // The answer is for the file that was asked about: if it has changed since, the server asks again.
      while (answer.overwrite && confirm(answer.error)) answer = await post({ ...body, overwrite: answer.overwrite });
      if (answer.overwrite) say("Not saved.");
      else if (answer.error) say(answer.error, true);
      else say(`Written: ${answer.written}`);
    } catch {
      say("Not saved: fftfilter does not answer.", true);
    } finally {
      button.disabled = false;
    }
  });
}

"""The book in another language, from catalogues of messages over the English source.

A message is a block of Markdown: a paragraph, heading, list item, row of a table, summary, an
alternative text, what a guess offers. Each page has a catalogue, NN-….po. What widgets say is in
interface.po: a sentence of theirs stands in t`…` (`widgets/shared/t.js`), and is looked up where it
is shown. What figures, reports and tables say is in words.po (`capsnet_book/words.py`). The set-up
cell of a written notebook has both spoken. What extensions and templates say is in extensions.po,
which Sphinx reads. The book's title and the captions of its parts are in settings.po.

A message without a translation, or with one for other words ("fuzzy"), stays English, and is marked
so in the page. A message that is right as it is has itself as its translation. terms.csv has the
terms; a comment "# terms: length" above a message exempts it from that one.

* `paths.py`       the folders and files of an edition
* `messages.py`    the messages of a page: found, and replaced by their translations
* `catalogues.py`  what is stored of them
* `current.py`     what the book says now; brings what is stored up to date
* `scripts.py`     the sentences in JavaScript
* `extensions.py`  the messages of extensions and templates
* `settings.py`    what _config.yml and _toc.yml say
* `unwrapped.py`   what JavaScript shows and is no sentence in t`…`
* `sources.py`     the sentences of reports, in Python
* `figures.py`     pictures of figures with Chinese words
* `checks.py`      what a translation must have in common with the English
* `tree.py`        the Chinese source of the book, and its build
* `sharing.py`     files that both editions have alike
* `drawing.py`     notebooks run in that tree, for the pictures of outdated figures
"""

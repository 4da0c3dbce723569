package io.sentry;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Declares this class of sentry-java 6 and newer. */
public final class Hint {
    private final List<Attachment> attachments = new ArrayList<Attachment>();
    private final Map<String, Object> values = new HashMap<String, Object>();

    public Object get(String name) {
        return values.get(name);
    }

    public void set(String name, Object value) {
        values.put(name, value);
    }

    public void addAttachment(Attachment attachment) {
        attachments.add(attachment);
    }

    public List<Attachment> getAttachments() {
        return attachments;
    }
}

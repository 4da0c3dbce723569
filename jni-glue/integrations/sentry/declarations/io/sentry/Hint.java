package io.sentry;

import java.util.ArrayList;
import java.util.List;

/** Of sentry-java 6 and newer. */
public final class Hint {
    private final List<Attachment> attachments = new ArrayList<Attachment>();

    public void addAttachment(Attachment attachment) {
        attachments.add(attachment);
    }

    public List<Attachment> getAttachments() {
        return attachments;
    }
}
